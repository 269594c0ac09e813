import QuireCoreData

// Foundation has types of these names as well: this module means Core Data's.

typealias NSComparisonPredicate = QuireCoreData.NSComparisonPredicate
typealias NSCompoundPredicate = QuireCoreData.NSCompoundPredicate
typealias NSExpression = QuireCoreData.NSExpression
typealias NSPredicate = QuireCoreData.NSPredicate
typealias NSSortDescriptor = QuireCoreData.NSSortDescriptor
