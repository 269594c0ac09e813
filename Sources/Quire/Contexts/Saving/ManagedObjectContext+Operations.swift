// On the highest floor of contexts, where all that a context begins by itself is known.
extension ManagedObjectContext: ContextOperations {}
