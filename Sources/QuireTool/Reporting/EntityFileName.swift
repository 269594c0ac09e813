import QuireModel

extension EntityDescription {
  /// The entity's name as that of a file, without extension.
  ///
  /// Entities may have any names, and a store from elsewhere may have one that leads out of the
  /// folder it is to be written in: `../x`. Letters, digits and a few signs stay, everything else
  /// is written as in a URL, so that two entities never share a file.
  var fileName: String {
    var fileName = ""
    for scalar in name.unicodeScalars {
      let isLetter = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
      let isPlain = isLetter || "_- ".unicodeScalars.contains(scalar)
      // A dot within a name is one; in the beginning it hides a file, or leads upwards.
      if isPlain || scalar == "." && !fileName.isEmpty {
        fileName.unicodeScalars.append(scalar)
      } else {
        for byte in UTF8.encode(scalar) ?? .init() {
          let digits = String(byte, radix: 16, uppercase: true)
          fileName += digits.utf8.count < 2 ? "%0\(digits)" : "%\(digits)"
        }
      }
    }
    return fileName
  }
}
