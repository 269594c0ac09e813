import Foundation

/// A stream of text to a file descriptor, or into memory for a test.
///
/// Text is gathered and delivered in blocks. Writing never fails: when the reader has closed its
/// end (`quire dump | head`), text is dropped, and a command with much to write checks ``isOpen``
/// and stops. Any other failure is kept in ``failure``, for the end of the run to report.
package final class TextOutput {
  private static let blockByteCount = 1 << 16

  /// The terminal that the text is shown on; `nil` when it goes elsewhere.
  let terminal: Terminal?
  private let deliver: ([UInt8]) -> Outcome
  private var pending: [UInt8] = []
  private(set) var isOpen = true
  /// Whether nothing was written yet.
  private(set) var isUntouched = true
  /// Why text could not be delivered; `nil` also when the reader just went away.
  private(set) var failure: String?

  package enum Outcome {
    case delivered
    case nobodyReads
    case failed(String)
  }

  package init(terminal: Terminal? = nil, _ deliver: @escaping ([UInt8]) -> Outcome) {
    self.terminal = terminal
    self.deliver = deliver
  }

  package func write(_ text: String) {
    guard isOpen else { return }
    isUntouched = false
    pending.append(contentsOf: text.utf8)
    if pending.count >= Self.blockByteCount { flush() }
  }

  package func flush() {
    guard isOpen, !pending.isEmpty else { return }
    let outcome = deliver(pending)
    pending.removeAll(keepingCapacity: true)
    switch outcome {
    case .delivered: break
    case .nobodyReads: isOpen = false
    case .failed(let reason):
      isOpen = false
      failure = reason
    }
  }
}

extension TextOutput {
  package static var standardOutput: TextOutput { TextOutput(descriptor: 1) }
  package static var standardError: TextOutput { TextOutput(descriptor: 2) }

  private convenience init(descriptor: Int32) {
    // Without this the signal ends the process, and what a command wanted to clean up stays.
    signal(SIGPIPE, SIG_IGN)
    let terminal = Terminal(
      descriptor: descriptor, environment: ProcessInfo.processInfo.environment)
    self.init(terminal: terminal) { bytes in
      bytes.withUnsafeBytes { buffer in
        var rest = buffer[...]
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress {
          let count = Foundation.write(descriptor, start, rest.count)
          if count >= 0 {
            rest = rest.dropFirst(count)
          } else if errno == EPIPE {
            return .nobodyReads
          } else if errno != EINTR {
            return .failed(String(cString: strerror(errno)))
          }
          if rest.isEmpty { break }
        }
        return .delivered
      }
    }
  }
}
