/** `node:http` as `import` would give it, but for 6 MB: an import reads each export, and one of them loads `fetch`. */
export const http = process.getBuiltinModule('node:http');
