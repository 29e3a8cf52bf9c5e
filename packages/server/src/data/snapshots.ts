/** Saves a data directory to one file and restores it: the store, and the certificates and keys beside it. */
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { FlotillaError, systemClock } from "@flotilla/base";
import { lastSnapshotPath } from "@flotilla/cli";
import type { Snapshots } from "@flotilla/cli";
import { addFiles, inspectSnapshot, readFiles, restoreSnapshot, writeSnapshot } from "@flotilla/apiserver";
import type { SnapshotFile } from "@flotilla/apiserver";
import { ensureDirectory, STORE } from "./data-directory.ts";

const KEPT_FOLDERS = ["pki"];

export const snapshots: Snapshots = {
  async save(directory, file) {
    const data = resolve(directory);
    const target = resolve(file);
    if (!existsSync(join(data, STORE)))
      throw new FlotillaError(
        "Snapshot",
        `saving ${data}: it contains no store of a hub; on the machine of the hub, specify its data directory with --data DIR`,
      );
    const unfinished = `${target}.${process.pid}`;
    if (existsSync(target))
      throw new FlotillaError("Snapshot", `saving to ${target}: the file already exists; choose another name`);
    if (!existsSync(dirname(target)))
      throw new FlotillaError(
        "Snapshot",
        `saving to ${target}: folder ${dirname(target)} does not exist; create it, or choose another`,
      );
    try {
      await writeSnapshot(join(data, STORE), unfinished);
      addFiles(unfinished, await filesOf(data));
      const info = inspectSnapshot(unfinished);
      await rename(unfinished, target);
      await noteSaved(data, target);
      return info;
    } finally {
      await rm(unfinished, { force: true });
    }
  },

  async restore(directory, file) {
    const data = resolve(directory);
    const snapshot = resolve(file);
    const info = inspectSnapshot(snapshot);
    await ensureDirectory(data);
    for (const folder of KEPT_FOLDERS) {
      if (existsSync(join(data, folder)))
        throw new FlotillaError(
          "Snapshot",
          `restoring into ${data}: it already has a folder ${folder}; restore into an empty directory`,
        );
    }
    // The store is written last: it makes the directory a fleet's, and a start without its keys would create new ones.
    for (const { path, content } of readFiles(snapshot)) await writeInside(data, path, content);
    restoreSnapshot(snapshot, join(data, STORE), systemClock.now());
    return info;
  },
};

/**
 * For 'flotilla doctor'. A fleet may also be saved when its disk is full: then the snapshot exists, but its time is not
 * recorded.
 */
async function noteSaved(data: string, snapshot: string): Promise<void> {
  try {
    await writeFile(lastSnapshotPath(data), `${snapshot}\n`, { mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

async function filesOf(data: string): Promise<SnapshotFile[]> {
  const files: SnapshotFile[] = [];
  for (const folder of KEPT_FOLDERS) {
    if (!existsSync(join(data, folder))) continue;
    for (const name of await readdir(join(data, folder), { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      const path = join(name.parentPath, name.name);
      files.push({ path: path.slice(data.length + 1).replaceAll(sep, "/"), content: await readFile(path) });
    }
  }
  return files;
}

/** Snapshots are untrusted: they may not write outside the data directory. */
async function writeInside(data: string, path: string, content: Uint8Array): Promise<void> {
  const target = resolve(data, path);
  if (!KEPT_FOLDERS.some((folder) => target.startsWith(join(data, folder) + sep)))
    throw new FlotillaError(
      "Snapshot",
      `restoring into ${data}: the snapshot contains the file ${path}, which does not belong there`,
    );
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await writeFile(target, content, { mode: 0o600, flag: "wx" });
  await chmod(target, 0o600);
}
