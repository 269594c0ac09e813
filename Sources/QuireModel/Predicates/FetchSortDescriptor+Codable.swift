/// Encoded by names; what has its usual value is left out.
extension FetchSortDescriptor: Codable {
  private enum CodingKeys: String, CodingKey {
    case keyPath, ascending, options, absentValues
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(keyPath, forKey: .keyPath)
    try container.encode(ascending, forKey: .ascending)
    if !options.isEmpty { try container.encode(options, forKey: .options) }
    if absentValues != .smallest { try container.encode(absentValues, forKey: .absentValues) }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      keyPath: try container.decode([String].self, forKey: .keyPath),
      ascending: try container.decode(Bool.self, forKey: .ascending),
      options: try container.decodeIfPresent(FetchComparisonOptions.self, forKey: .options) ?? [],
      absentValues: try container.decodeIfPresent(AbsentValues.self, forKey: .absentValues)
        ?? .smallest)
  }
}

extension FetchSortDescriptor.AbsentValues: Codable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode("\(self)")
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    guard let placement = Self.allCases.first(where: { "\($0)" == name }) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(name) does not say where absent values go")
    }
    self = placement
  }
}

/// Encoded as the letters of a format, `cd`.
extension FetchComparisonOptions: Codable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(letters)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let letters = try container.decode(String.self)
    self = []
    for letter in letters {
      guard let option = Self.letters.first(where: { $0.letter == letter })?.option else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "\(letter) is no option of a comparison")
      }
      insert(option)
    }
  }
}
