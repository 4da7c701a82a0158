;; Asks for files by another way than the contract.
(component
  (import "wasi:filesystem/preopens@0.2.0" (instance
    (export "descriptor" (type $descriptor (sub resource)))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))
  ;;include memory
  ;;include trap
  ;;include tools@0.1.0
)
