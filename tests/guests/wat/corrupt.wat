;; The first bytes of a component, and then a section that is longer than the file.
(component binary "\00asm\0d\00\01\00" "\07\ff\01\01")
