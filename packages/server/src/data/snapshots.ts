/** Saves a hub to one file and restores it: the store, in its data directory or in etcd, and its certificates and keys. */
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { FlotillaError, silentLog, systemClock } from "@flotilla/base";
import { lastSnapshotPath } from "@flotilla/cli";
import type { Snapshots, StoreOptions } from "@flotilla/cli";
import {
  addFiles,
  copyStore,
  inspectSnapshot,
  openSqliteEngine,
  readFiles,
  restoreInto,
  restoreSnapshot,
  writeSnapshot,
} from "@flotilla/apiserver";
import type { SnapshotFile } from "@flotilla/apiserver";
import { ensureDirectory, STORE } from "./data-directory.ts";
import { connectEtcd, openEtcdStore } from "./etcd-store.ts";

const KEPT_FOLDERS = ["pki"];

export const snapshots: Snapshots = {
  async save({ data: directory, store, onProgress = () => {} }, file) {
    const data = resolve(directory);
    const target = resolve(file);
    checkSource(data, store !== undefined);
    const unfinished = `${target}.${process.pid}`;
    if (existsSync(target))
      throw new FlotillaError("Snapshot", `saving to ${target}: the file already exists; choose another name`);
    if (!existsSync(dirname(target)))
      throw new FlotillaError(
        "Snapshot",
        `saving to ${target}: folder ${dirname(target)} does not exist; create it, or choose another`,
      );
    try {
      if (store) await copyFromEtcd(store, unfinished, onProgress);
      else await writeSnapshot(join(data, STORE), unfinished);
      addFiles(unfinished, await filesOf(data));
      const info = inspectSnapshot(unfinished);
      await rename(unfinished, target);
      await noteSaved(data, target);
      return info;
    } finally {
      await rm(unfinished, { force: true });
    }
  },

  async restore({ data: directory, store, onProgress = () => {} }, file) {
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
    if (store && existsSync(join(data, STORE)))
      throw new FlotillaError("Snapshot", `restoring into ${data}: it already has a store; choose an empty directory`);
    const writeKeys = async (): Promise<void> => {
      for (const { path, content } of readFiles(snapshot)) await writeInside(data, path, content);
    };
    if (store) {
      const objects = await copySnapshotToEtcd(snapshot, store, data, onProgress);
      // Written last: a restore that failed can be repeated into the same directory.
      await writeKeys();
      return { ...info, objects };
    }
    // The store is written last: it makes the directory a fleet's, and a start without its keys would create new ones.
    await writeKeys();
    restoreSnapshot(snapshot, join(data, STORE), systemClock.now());
    return info;
  },
};

function checkSource(data: string, isInEtcd: boolean): void {
  // Beside the certificates of one server the folder may lack the keys, which --keys takes from elsewhere.
  if (existsSync(join(data, isInEtcd ? "pki/ca.pem" : STORE))) return;
  const missing = isInEtcd ? "keys (pki/ca.pem)" : "store";
  throw new FlotillaError(
    "Snapshot",
    `saving ${data}: it contains no ${missing} of a hub; on the machine of the hub, specify its data directory with --data DIR`,
  );
}

/** The snapshot is a store of its own with the objects of etcd as they are at one time. */
async function copyFromEtcd(store: StoreOptions, path: string, onProgress: (objects: number) => void): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(await mkdtemp(`${path}-`), (created) => rm(created, { recursive: true }));
  const source = stack.adopt(await openEtcdStore(store, systemClock, silentLog), (engine) => engine.close());
  const target = await openSqliteEngine({ path: join(folder, STORE) });
  try {
    await copyStore(source, target, onProgress);
  } finally {
    await target.close();
  }
  await writeSnapshot(join(folder, STORE), path);
}

/** Fills an empty prefix of etcd with the objects of a snapshot. Returns their number. */
export async function copySnapshotToEtcd(
  snapshot: string,
  store: StoreOptions,
  data: string,
  onProgress: (objects: number) => void,
): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const target = stack.adopt(await connectEtcd(store, systemClock, silentLog), (engine) => engine.close());
  const folder = stack.adopt(await mkdtemp(join(data, "restoring-")), (created) => rm(created, { recursive: true }));
  const nowMs = systemClock.now();
  restoreSnapshot(snapshot, join(folder, STORE), nowMs);
  const source = stack.adopt(await openSqliteEngine({ path: join(folder, STORE) }), (engine) => engine.close());
  return await restoreInto(target, source, { revision: await source.revision(), nowMs, onProgress });
}

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
