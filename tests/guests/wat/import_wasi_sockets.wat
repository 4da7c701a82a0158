;; Asks for the network.
(component
  (import "wasi:sockets/network@0.2.0" (instance $types
    (export "network" (type (sub resource)))))
  (alias export $types "network" (type $network))
  (import "wasi:sockets/instance-network@0.2.0" (instance
    (alias outer 1 $network (type $outer))
    (export "network" (type $network (eq $outer)))
    (export "instance-network" (func (result (own $network))))))
  ;;include memory
  ;;include trap
  ;;include tools@0.1.0
)
