/**
 * Keys of the server's own bookkeeping. No API group can have this name, so no kind is stored here. Like all keys they
 * name a cluster in their third part.
 */
export const INTERNAL_PREFIX = "/.flotilla/";
