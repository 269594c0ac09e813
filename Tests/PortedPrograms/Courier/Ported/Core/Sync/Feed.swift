import Foundation

public struct ParcelMessage: Codable, Equatable {
  public var code: String
  public var customer: String?
  public var grams: Double
  public var state: ParcelState
  public var price: Decimal?
  public var labels: [String]?
  public var stops: [StopMessage]?

  public init(
    code: String, customer: String? = nil, grams: Double = 0, state: ParcelState = .waiting,
    price: Decimal? = nil, labels: [String]? = nil, stops: [StopMessage]? = nil
  ) {
    self.code = code
    self.customer = customer
    self.grams = grams
    self.state = state
    self.price = price
    self.labels = labels
    self.stops = stops
  }
}

public struct StopMessage: Codable, Equatable {
  public var address: String
  public var arrivedAt: Date?
  public var depot: String?

  public init(address: String, arrivedAt: Date? = nil, depot: String? = nil) {
    self.address = address
    self.arrivedAt = arrivedAt
    self.depot = depot
  }
}

/// One message a line.
public struct Feed {
  private let decoder: JSONDecoder = {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }()

  public init() {}

  public func messages(in text: String) throws -> [ParcelMessage] {
    var messages: [ParcelMessage] = []
    for (index, line) in text.components(separatedBy: "\n").enumerated() where !line.isEmpty {
      do {
        messages.append(try decoder.decode(ParcelMessage.self, from: Data(line.utf8)))
      } catch {
        throw CourierError.unreadable(line: index + 1)
      }
    }
    return messages
  }

  public func text(of messages: [ParcelMessage]) throws -> String {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = .sortedKeys
    return try messages.map { String(data: try encoder.encode($0), encoding: .utf8)! }
      .joined(separator: "\n")
  }
}
