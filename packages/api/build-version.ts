/** A plugin of Rolldown by which a build tells GATEHOUSE_VERSION: that of package.json is the next one's, before its tag. */
export function buildVersion(): { name: string; load: (id: string) => string | undefined } {
  const version = process.env.GATEHOUSE_VERSION;
  return {
    name: 'build-version',
    load: (id) =>
      version && id.endsWith('/platform/config-version.ts')
        ? `export const version = ${JSON.stringify(version)};`
        : undefined,
  };
}
