;; Built for a later patch version of the contract, with a function that this host does not have.
(component
  (import "belljar:sandbox/files@0.1.9" (instance
    (export "teleport" (func (param "path" string)))))
  ;;include memory
  ;;include trap
  ;;include tools@0.1.9
)
