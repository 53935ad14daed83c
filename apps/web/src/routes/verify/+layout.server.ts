// Set in a layout, because the error page beside it must run no script either.
export const csr = false;
