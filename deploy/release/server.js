// Starts the service. It needs Node 20.16 or later, and nothing else.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 16)) {
  process.stderr.write(`Gatehouse needs Node 20.16 or later. This is ${process.version}.\n`);
  process.exit(1);
}
await import('./lib/apps/server/dist/main.js');
