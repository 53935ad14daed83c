import root from '../../../../package.json' with { type: 'json' };

/** The version of this release, as in package.json of the repository. Builds contain it. */
export const version: string = root.version;
