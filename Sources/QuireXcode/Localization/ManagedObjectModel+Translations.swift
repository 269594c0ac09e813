import Foundation
import QuireModel

extension ManagedObjectModel {
  /// A model with the translations of a file beside it, as Core Data finds them: of a model `Shop`
  /// the file `ShopModel.strings`, in the folder of a language (`de.lproj`).
  ///
  /// The keys are those of ``ManagedObjectModel/localizationDictionary``. Translations are no part
  /// of a version's hash.
  ///
  /// ```swift
  /// let model = try ManagedObjectModel(contentsOf: folder.appending(path: "Shop.xcdatamodel"))
  ///   .translated(by: "Shop", in: folder, languages: ["de-AT", "en"])
  /// ```
  ///
  /// - Parameters:
  ///   - name: the model's.
  ///   - languages: what people prefer, best first; by default what the system says. For `de-AT`
  ///     the folders `de-AT.lproj`, `de_AT.lproj` and `de.lproj` are looked into. When there is
  ///     nothing in any language, `Base.lproj` is, and then the folder itself.
  /// - Returns: the model as it is when there is no such file.
  public func translated(
    by name: String, in folder: URL, languages: [String] = Locale.preferredLanguages
  ) throws(StringsFileError) -> ManagedObjectModel {
    for subfolder in Self.translationFolders(languages) {
      let file = folder.appendingPathComponent(subfolder).appendingPathComponent(
        "\(name)Model.strings")
      if file.isExistingFolder == false { return try translated(byContentsOf: file) }
    }
    return self
  }

  /// A model with the translations of a file `.strings`.
  public func translated(byContentsOf url: URL) throws(StringsFileError) -> ManagedObjectModel {
    let translations = try StringsFile(contentsOf: url).translations
    do {
      return try settingLocalizationDictionary(translations)
    } catch {
      throw StringsFileError(
        file: url.path, reason: .notStrings("does not go with the model: \(error)"))
    }
  }

  private static func translationFolders(_ languages: [String]) -> [String] {
    var folders: [String] = []
    for language in languages {
      let parts = language.split { $0 == "-" || $0 == "_" }
      for count in stride(from: parts.count, to: 0, by: -1) {
        for separator in count > 1 ? ["-", "_"] : [""] {
          folders.append(parts.prefix(count).joined(separator: separator) + ".lproj")
        }
      }
    }
    return folders + ["Base.lproj", ""]
  }
}
