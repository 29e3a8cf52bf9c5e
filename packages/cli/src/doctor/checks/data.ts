/**
 * Checks the hub's data directory, if it is on this machine: free disk space, size of the store, age of the last
 * snapshot.
 */
import { join } from "node:path";
import { formatAge, HUB } from "@flotilla/apimachinery";
import { kubeconfigPath, lastSnapshotPath } from "../../data-directory.ts";
import { defineCheck } from "../doctor-check.ts";
import { isHere } from "../context.ts";
import type { DoctorFinding } from "../doctor-check.ts";

export interface DataFacts {
  directory: string;
  /** Undefined when the store is not on this machine. */
  storeBytes: number | undefined;
  logBytes: number;
  /** The time of the last snapshot; undefined when there is none. */
  savedMs?: number | undefined;
  free: number;
  total: number;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** Compacting or copying a store needs its own size once more. */
const PROBLEM_FREE = 256 * MIB;
const WARNING_FREE = 2 * GIB;
/** Larger than any fleet needs whose history is compacted. */
const LARGE_STORE = 8 * GIB;
/** Snapshots are usually saved daily or weekly; a trial fleet has none. */
const OLD_SNAPSHOT_MS = 7 * 24 * 60 * 60 * 1000;

export const dataCheck = defineCheck<DataFacts | undefined>({
  name: "data",
  summary: "the data directory has free space and a recent snapshot, if the hub is on this machine",
  reports:
    "A problem with less than 256 MiB free on the disk of the data directory, or less than the store's own " +
    "size; a warning with less than 2 GiB free, a store of more than 8 GiB, or if snapshots were saved and " +
    "the last is more than a week old. Skipped if the hub is on another machine.",
  async gather({ data, localEnvironment, server }) {
    if (data === undefined) return undefined;
    const storeBytes = isHere(server) ? await localEnvironment.fileSize(join(data, STORE)) : undefined;
    // An ephemeral fleet still keeps its certificates here.
    if (
      !isHere(server) ||
      (storeBytes === undefined && (await localEnvironment.fileSize(kubeconfigPath(data, HUB))) === undefined)
    )
      return undefined;
    return {
      directory: data,
      storeBytes,
      logBytes: (await localEnvironment.fileSize(join(data, `${STORE}-wal`))) ?? 0,
      savedMs: await localEnvironment.writtenMs(lastSnapshotPath(data)),
      ...(await localEnvironment.diskSpace(data)),
    };
  },
  judge(facts, { nowMs }) {
    if (!facts)
      return {
        seen: "",
        findings: [],
        skipped: "the hub's data directory is not on this machine; specify another with --data DIR",
      };
    const { directory, storeBytes = 0, logBytes, savedMs, free, total } = facts;
    const findings: DoctorFinding[] = [];
    const room = {
      fix: "Free space on the disk, or move the data: save a snapshot and restore it elsewhere.",
      commands: [`flotilla snapshot save FILE --data ${directory}`, "flotilla snapshot restore FILE --data DIR"],
    };
    if (free < PROBLEM_FREE || free < storeBytes)
      findings.push({
        severity: "problem",
        about: directory,
        seen: `${size(free)} of ${size(total)} are free, and the store has ${size(storeBytes + logBytes)}: when the disk is full the hub rejects writes.`,
        ...room,
      });
    else if (free < WARNING_FREE)
      findings.push({
        severity: "warning",
        about: directory,
        seen: `${size(free)} of ${size(total)} are free.`,
        ...room,
      });
    if (storeBytes > LARGE_STORE)
      findings.push({
        severity: "warning",
        about: directory,
        seen: `The store has ${size(storeBytes)}.`,
        fix: "Find objects that are written without limit: events, leases, objects that are created and never deleted.",
        commands: ["kubectl get --raw /metrics | grep flotilla_objects"],
      });
    if (savedMs !== undefined && nowMs - savedMs > OLD_SNAPSHOT_MS)
      findings.push({
        severity: "warning",
        about: directory,
        seen: `The last snapshot was saved ${formatAge(nowMs - savedMs)} ago.`,
        fix: "Save one, and check why the regular snapshot job did not.",
        commands: [`flotilla snapshot save FILE --data ${directory}`],
      });
    if (facts.storeBytes === undefined) return { seen: `nothing stored, ${size(free)} free`, findings };
    return {
      seen: `store ${size(storeBytes + logBytes)}, ${size(free)} free, ${savedMs === undefined ? "never saved" : `saved ${formatAge(nowMs - savedMs)} ago`}`,
      findings,
    };
  },
});

const STORE = "flotilla.db";

function size(bytes: number): string {
  return bytes >= GIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${Math.ceil(bytes / MIB)} MiB`;
}
