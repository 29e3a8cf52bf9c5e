/**
 * The copies of workloads on members, watched there through the hub's cluster proxy.
 *
 * A binding learns of a change of a member up to 3 s later; a watch of the member's own objects shows it at once. There
 * is one watch per member and kind, so beyond a number of them the rows show what bindings have.
 */
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import type { Clock, JsonObject, Log } from "@flotilla/base";
import { createKindResolver, createWatchDecoder, queryText, resourcePath } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { workloadId } from "@flotilla/web";
import type { ObjectRef } from "@flotilla/web";
import { objectAt, pause, textAt } from "./json-access.ts";
import { memberPath } from "./member-path.ts";
import type { LiveCopy } from "./fleet-rows.ts";

export interface MemberCopies {
  /** A kind that workloads have. */
  want(kind: { apiVersion: string; kind: string }, namespaces: readonly string[] | undefined): void;
  setMembers(members: readonly { name: string }[]): void;
  find(member: string, ref: ObjectRef): LiveCopy | undefined;
  isLive(): boolean;
  close(): void;
}

export interface MemberCopiesOptions {
  client: Client;
  clock: Clock;
  log: Log;
  /** Called with the id of a workload whose copy changed. */
  onChange(id: string): void;
}

/** A kind, in one namespace or in all. */
interface Wanted {
  apiVersion: string;
  kind: string;
  namespace: string | undefined;
}

const MAX_WATCHES = 200;
const RETRY_MS = 2_000;

/** Kinds with pods: their status changes often. Others are well when they are applied. */
const COUNTS: ReadonlySet<string> = new Set([
  "CloneSet",
  "DaemonSet",
  "Deployment",
  "ReplicaSet",
  "StatefulSet",
  "UnitedDeployment",
]);

export function createMemberCopies({ client, clock, log, onChange }: MemberCopiesOptions): MemberCopies {
  const kinds = createKindResolver({ client, cluster: HUB });
  const wanted = new Map<string, Wanted>();
  let members: readonly string[] = [];
  const running = new Map<string, AbortController>();
  /** By member and id. */
  const copies = new Map<string, Map<string, LiveCopy>>();
  const closing = new AbortController();

  function update(): void {
    const needed = new Map(
      members.flatMap((member) =>
        Array.from(wanted, ([id, kind]): [string, { member: string; kind: Wanted }] => [
          `${member} ${id}`,
          { member, kind },
        ]),
      ),
    );
    if (needed.size > MAX_WATCHES) needed.clear();
    for (const [key, stop] of running)
      if (!needed.has(key)) {
        stop.abort();
        running.delete(key);
        copies.delete(key);
      }
    for (const [key, { member, kind }] of needed) {
      if (running.has(key)) continue;
      const stop = new AbortController();
      running.set(key, stop);
      void follow(key, member, kind, AbortSignal.any([closing.signal, stop.signal]));
    }
  }

  async function follow(key: string, member: string, ref: Wanted, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const kind = await kinds.resolve(ref);
        await watchOnce(key, member, ref, kind, signal);
      } catch (error) {
        if (signal.aborted) return;
        // A member that is away, or does not serve the kind: its cells show what the hub knows.
        log.debug("watching copies on a member failed", { member, kind: ref.kind, error });
        copies.delete(key);
      }
      await pause(clock, RETRY_MS, signal);
    }
  }

  async function watchOnce(
    key: string,
    member: string,
    ref: Wanted,
    kind: AnyKind,
    signal: AbortSignal,
  ): Promise<void> {
    const path = resourcePath({
      cluster: HUB,
      group: kind.group,
      version: kind.storageVersion,
      resource: kind.plural,
      namespace: ref.namespace,
    });
    const query = {
      watch: "true",
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "true",
    };
    const { status, body } = await client.raw(
      {
        method: "GET",
        path: `${memberPath(member, path)}${queryText(query)}`,
        cluster: HUB,
        headers: { accept: "application/json" },
      },
      signal,
    );
    if (status !== 200) {
      for await (const _ of body) break;
      throw new FlotillaError("Member", `status ${status}`);
    }
    const decoder = createWatchDecoder();
    const found = new Map<string, LiveCopy>();
    copies.set(key, found);
    try {
      for await (const chunk of body) {
        const { events, failure } = decoder.push(chunk);
        for (const { type, object } of events) {
          if (type === "BOOKMARK") continue;
          const metadata = objectAt(object, "metadata");
          const id = workloadId({
            apiVersion: ref.apiVersion,
            kind: ref.kind,
            namespace: textAt(metadata, "namespace"),
            name: textAt(metadata, "name"),
          });
          if (type === "DELETED") found.delete(id);
          else found.set(id, slim(object));
          onChange(id);
        }
        if (failure) throw failure;
      }
    } finally {
      decoder.close();
    }
  }

  return {
    want({ apiVersion, kind }, namespaces) {
      if (!COUNTS.has(kind)) return;
      let isNew = false;
      for (const namespace of namespaces ?? [undefined]) {
        const id = `${apiVersion}/${kind}/${namespace ?? ""}`;
        if (wanted.has(id)) continue;
        wanted.set(id, { apiVersion, kind, namespace });
        isNew = true;
      }
      if (isNew) update();
    },
    setMembers(next) {
      const names = next.map(({ name }) => name);
      if (names.join(" ") === members.join(" ")) return;
      members = names;
      update();
    },
    find(member, ref) {
      const id = workloadId(ref);
      const kind = `${member} ${ref.apiVersion}/${ref.kind}/`;
      return copies.get(kind)?.get(id) ?? copies.get(`${kind}${ref.namespace}`)?.get(id);
    },
    isLive: () => running.size > 0,
    close: () => closing.abort(),
  };
}

/** The numbers that rows show. */
function slim({ spec, status }: JsonObject): LiveCopy {
  const counts = isObject(status)
    ? Object.fromEntries(Object.entries(status).filter(([, value]) => typeof value === "number"))
    : undefined;
  const replicas = isObject(spec) ? spec["replicas"] : undefined;
  return { spec: replicas === undefined ? {} : { replicas }, status: counts };
}
