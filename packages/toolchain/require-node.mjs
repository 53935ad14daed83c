// Imported before every other module of the toolchain, so that an old Node ends with a sentence and not in one of them.
const oldest = [20, 16];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  process.stderr.write(
    `This is Node ${process.versions.node}. Install Node ${oldest.join('.')} or later, then run this again.\n`,
  );
  process.exit(1);
}
