/** Stores an agent's credentials in a directory, one file per part. */
import { access, constants, readFile } from "node:fs/promises";
import { join } from "node:path";
import { credentialsIn, filesOf } from "@flotilla/flotilla";
import type { CredentialStore } from "@flotilla/flotilla";
import { writeSecret } from "../secret-file.ts";
import { ensureDirectory } from "../data/data-directory.ts";

export function createDirectoryStore(directory: string): CredentialStore {
  const NAMES = Object.keys(
    filesOf({
      address: { name: "", server: "", ca: "", proxyUrl: "", others: [] },
      cluster: "",
      agent: "",
      cert: "",
      key: "",
    }),
  );
  return {
    async load() {
      const read = await Promise.all(NAMES.map(async (name) => [name, await textOf(join(directory, name))] as const));
      const files = new Map(read);
      return credentialsIn((name) => files.get(name));
    },
    async prepare() {
      await ensureDirectory(directory);
      await access(directory, constants.W_OK);
    },
    async save(credentials) {
      await ensureDirectory(directory);
      for (const [name, text] of Object.entries(filesOf(credentials))) await writeSecret(join(directory, name), text);
    },
  };
}

/** Undefined for a missing file. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
