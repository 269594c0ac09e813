#if !canImport(Darwin)
  import Foundation

  extension NSValueTransformerName {
    /// The name of the transformer of keyed archives.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
      "NSSecureUnarchiveFromData")
  }

  /// Makes an object of a keyed archive, and back: the transformer that Xcode recommends for
  /// attributes. Foundation has this class on Apple's platforms alone.
  ///
  /// It turns `Data` into an object, other than the transformers that models name otherwise. An
  /// attribute uses it the other way round, as Core Data does.
  open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that an archive may have at its root, and within that.
    open class var allowedTopLevelClasses: [AnyClass] {
      [
        NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self,
        NSData.self, NSURL.self, NSUUID.self, NSNull.self,
      ]
    }

    /// The class of the results.
    open override class func transformedValueClass() -> AnyClass { NSObject.self }

    /// The object of an archive; `nil` if it has another class, or cannot be read.
    open override func transformedValue(_ value: Any?) -> Any? {
      guard let data = value as? Data else { return nil }
      return try? NSKeyedUnarchiver.unarchivedObject(
        ofClasses: Self.allowedTopLevelClasses, from: data)
    }

    /// The archive of an object; `nil` if its class does not support secure coding.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
      guard let value else { return nil }
      return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    }
  }
#endif
