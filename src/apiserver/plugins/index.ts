/** Every plugin that the server runs, in order. */
import type { Plugin } from "../plugin.ts";

export const builtInPlugins: readonly Plugin[] = [];
