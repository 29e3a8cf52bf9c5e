/** Checks and repairs the store of a data directory whose process is stopped. */
import { join, resolve } from "node:path";
import { systemClock } from "@flotilla/base";
import type { Stores } from "@flotilla/cli";
import { checkStore, repairStore } from "@flotilla/apiserver";
import { STORE } from "./data-directory.ts";

const options = (data: string, from: string | undefined, onProgress: (rows: number) => void) => ({
  path: join(resolve(data), STORE),
  snapshot: from === undefined ? undefined : resolve(from),
  onProgress,
});

export const stores: Stores = {
  check: async (data, from, onProgress) => checkStore(options(data, from, onProgress)),
  repair: async (data, from, onProgress) =>
    repairStore({ ...options(data, from, onProgress), nowMs: systemClock.now() }),
};
