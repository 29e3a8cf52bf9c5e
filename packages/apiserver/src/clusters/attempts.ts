/**
 * How often a write is decided again on fresh objects after another write came first. Each failure means that another
 * client succeeded; one that fails this often is answered with a conflict and retries itself, later and less often.
 */
export const MAX_ATTEMPTS = 5;
