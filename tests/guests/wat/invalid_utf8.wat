;; Answers a text with the byte FF in it.
(component
  ;;include memory
  (core module $code
    (import "described" "memory" (memory 1))
    ;; result<answer, call-error>: ok; one content, at 256; no structured value.
    (data (i32.const 200)
      "\00\00\00\00" "\00\01\00\00\01\00\00\00" "\00\00\00\00\00\00\00\00\00\00\00\00")
    ;; content: text, 3 bytes at 300.
    (data (i32.const 256)
      "\00\00\00\00" "\2c\01\00\00\03\00\00\00" "\00\00\00\00\00\00\00\00")
    (data (i32.const 300) "a\ffb")
    (func (export "call") (param i32 i32 i32 i32) (result i32) (i32.const 200)))
  (core instance $code (instantiate $code (with "described" (instance $described))))
  ;;include tools@0.1.0
)
