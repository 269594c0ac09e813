// People who use objects use models, predicates and sort descriptors too: one import is enough.
@_exported import QuireModel
