/** OpenKruise's defaults for pulling an image. */

/** How long one attempt may take. */
export const PULL_TIMEOUT_SECONDS = 600;
/** How many more attempts follow a failed one. */
export const PULL_BACKOFF_LIMIT = 3;
