extension ManagedObjectContext: ContextOperations {}
