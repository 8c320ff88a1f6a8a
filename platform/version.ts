import packageJson from '../package.json' with { type: 'json' };

/** The version of the service. */
export const VERSION = packageJson.version;

/** The commit that the image was built from; null where WEIR_BUILD does not name it. */
export const BUILD = process.env.WEIR_BUILD || null;
