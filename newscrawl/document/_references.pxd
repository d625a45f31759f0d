cdef str decode_text(const unsigned char* data, Py_ssize_t size, bint in_attribute)
