// The first file of this floor.
