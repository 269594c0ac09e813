import Foundation
import QuireCoreData

// The line that a module says once for each name that Foundation has too.
typealias NSPredicate = QuireCoreData.NSPredicate
typealias NSCompoundPredicate = QuireCoreData.NSCompoundPredicate
typealias NSComparisonPredicate = QuireCoreData.NSComparisonPredicate
typealias NSExpression = QuireCoreData.NSExpression
typealias NSSortDescriptor = QuireCoreData.NSSortDescriptor
