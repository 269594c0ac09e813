public import QuireCoreData

// Foundation has types of these names as well: this module means Core Data's.

public typealias NSComparisonPredicate = QuireCoreData.NSComparisonPredicate
public typealias NSCompoundPredicate = QuireCoreData.NSCompoundPredicate
public typealias NSExpression = QuireCoreData.NSExpression
public typealias NSPredicate = QuireCoreData.NSPredicate
public typealias NSSortDescriptor = QuireCoreData.NSSortDescriptor
