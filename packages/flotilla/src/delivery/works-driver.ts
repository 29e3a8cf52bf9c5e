/**
 * Drives the works of one API to their members: Karmada's Works and OCM's ManifestWorks, on the hub and in agents. A
 * controller states what its API means; when a work is delivered, retried or reported is decided here.
 *
 * - A work takes a place in its member's lane (`member-lanes.ts`), so that a slow or unreachable member delays no other.
 * - A rejected work backs off (`refusals.ts`) until it, its objects or the kinds that the member serves change.
 * - A change of a Cluster requeues the works that wait for it.
 * - An object that is changed back and forth is no longer written (`oscillations.ts`).
 * - Status writes are batched (`status-timing.ts`).
 *
 * Everything kept per work is dropped by `forget`, and everything kept per member when its Cluster is deleted.
 */
import { Cluster } from "@flotilla/karmada";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly, Log, Random } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { isConditionTrue } from "@flotilla/apimachinery";
import { createStatusWriter, done, watch } from "@flotilla/controller-runtime";
import type {
  Controller,
  Informers,
  ObjectEvent,
  Result,
  Source,
  SourceRequest,
  StatusWriter,
} from "@flotilla/controller-runtime";
import { createMemberLanes } from "./member-lanes.ts";
import type { MemberLanes } from "./member-lanes.ts";
import { obstacleOf } from "./obstacles.ts";
import { createOscillations } from "./oscillations.ts";
import type { Oscillations, OscillationsOptions } from "./oscillations.ts";
import { createRefusals } from "./refusals.ts";
import { watchLaneAccess } from "./slow-answers.ts";
import { STATUS_WINDOW_MS } from "./status-timing.ts";

export interface WorksDriverOptions<W extends KubernetesObject> {
  kind: Kind<W>;
  /** The hub's informers. */
  informers: Informers;
  /** Writes the status of works. */
  statusClient: Client;
  /** The member whose works are in this namespace. */
  memberOf(namespace: string): string;
  /** Which members' works are processed here. The works of others belong to another agent, with their finalizers. */
  serves(cluster: string): boolean;
  /** The objects on the member, in the order of the manifests. */
  objectsOf(work: DeepReadonly<W>): readonly (DeepReadonly<KubernetesObject> | undefined)[];
  /** Whether a failure that `obstacleOf` considers transient lasts until the work is changed. */
  isMistake?(error: unknown): boolean;
  /** False where no Clusters report that a member is reachable again or serves other kinds. Unset is true. */
  followClusters?: boolean;
  /** The works to requeue when a member joins or its Cluster's spec changes. */
  worksOf?(cluster: string): ObjectKey[];
  /** Members whose served kinds changed, where Clusters do not report it. */
  served?: Source<string>;
  /** What else decides the requests of a work, such as users' rules, as a text that changes with it. */
  circumstancesOf?(work: DeepReadonly<W>): string;
  /** Receives the objects of members that are stopped, and written again. */
  onStopped?: OscillationsOptions["onStopped"];
  clock: Clock;
  random: Random;
  log: Log;
}

/** What one reconcile of a work does on its member. */
interface Visit<T> {
  /** Sends requests; calls `beforeRequest` before each, which throws while the member has no room or does not answer. */
  run(beforeRequest: () => void): Promise<T>;
  /** The failures that `run` does not throw. */
  failuresOf?(value: T): readonly unknown[];
  /** Called once when a request takes long, while it is still unanswered. */
  onSlow?(): void;
}

export interface WorksDriver<W extends KubernetesObject> {
  /** Works to requeue: their member has room, answers again or serves other kinds. */
  readonly watches: readonly SourceRequest<ObjectKey>[];
  readonly status: StatusWriter<W>;
  readonly lanes: Pick<MemberLanes, "figures">;
  /** Stops objects that are changed back and forth. */
  readonly oscillations: Pick<Oscillations, "guard" | "changed" | "stopped">;
  /** The controller, for served works only. A deleted work reaches it in any case, so that it forgets the work. */
  onlyServed(controller: Controller<ObjectKey>): Controller<ObjectKey>;
  /** How long a rejected work still backs off; 0 when it may be delivered. */
  backoffMs(work: DeepReadonly<W>, key: ObjectKey): number;
  /** Runs requests to the work's member in its lane. */
  visit<T>(key: ObjectKey, visit: Visit<T>): Promise<T>;
  /**
   * When a work is retried after a visit with these failures. Throws the first transient one, for the queue's backoff. A
   * rejection backs off. A busy or unreachable member requeues the work itself; a write that was stopped waits for a
   * change.
   */
  retry(work: DeepReadonly<W>, key: ObjectKey, failures: readonly unknown[]): Result;
  /** Drops everything that is kept for a work. */
  forget(key: ObjectKey): void;
  /** True while no status write is in flight. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export function createWorksDriver<W extends KubernetesObject>(options: WorksDriverOptions<W>): WorksDriver<W> {
  const { kind, informers, memberOf, serves, clock, random, isMistake = () => false } = options;
  const works = informers.of(kind);
  const lanes = createMemberLanes({ clock, random });
  const refusals = createRefusals(random);
  const oscillations = createOscillations({ clock, onStopped: options.onStopped });
  const status = createStatusWriter({
    client: options.statusClient,
    kind,
    lister: works,
    clock,
    windowMs: STATUS_WINDOW_MS,
    log: options.log,
  });
  const memberOfKey = ({ namespace = "" }: ObjectKey): string => memberOf(namespace);

  /** Identifies the work and its objects on the member: a rejection applies only to this combination. */
  function questionOf(work: DeepReadonly<W>): string {
    const stamps = options.objectsOf(work).map((object) => {
      const { uid, generation, resourceVersion } = object?.metadata ?? {};
      return `${uid} ${generation ?? resourceVersion}`;
    });
    return `${work.metadata.generation} ${stamps.join()} ${options.circumstancesOf?.(work) ?? ""}`;
  }

  function retry(work: DeepReadonly<W>, key: ObjectKey, failures: readonly unknown[]): Result {
    const obstacles = failures.map((error) => (isMistake(error) ? "refused" : obstacleOf(error)));
    const transient = obstacles.indexOf("passing");
    if (transient >= 0) throw failures[transient];
    const waitsForKind = obstacles.includes("missing-kind");
    if (waitsForKind || obstacles.includes("refused")) {
      const rejection = { cluster: memberOfKey(key), question: questionOf(work), waitsForKind };
      return { requeueAfterMs: refusals.note(key, rejection, clock.now()) };
    }
    refusals.forget(key);
    return done;
  }

  async function visit<T>(key: ObjectKey, { run, failuresOf = () => [], onSlow }: Visit<T>): Promise<T> {
    const plain = lanes.access(memberOfKey(key), key);
    const access = onSlow ? watchLaneAccess(plain, clock, onSlow) : plain;
    let failures: readonly unknown[] = [];
    try {
      const value = await run(() => access.enter());
      failures = failuresOf(value);
      return value;
    } catch (error) {
      failures = [error];
      throw error;
    } finally {
      const unreachable = failures.find((error) => obstacleOf(error) === "unreachable");
      access.leave(unreachable === undefined ? undefined : messageOf(unreachable));
    }
  }

  function afterClusterChange({ object, old, deleted }: ObjectEvent<Cluster>): ObjectKey[] {
    const { name } = object.metadata;
    if (deleted) lanes.drop(name);
    if (!old || (options.worksOf && !equalJson(old.spec, object.spec))) return options.worksOf?.(name) ?? [];
    const isReady = ({ status: reported }: DeepReadonly<Cluster>): boolean =>
      isConditionTrue(reported?.conditions, "Ready");
    if (isReady(object) && !isReady(old)) lanes.restore(name);
    return equalJson(object.status?.apiEnablements, old.status?.apiEnablements)
      ? []
      : refusals.takeWaitingForKinds(name);
  }

  /** The works that wait for a kind on these members. */
  const waitingOn = (members: Source<string>): Source<ObjectKey> => ({
    start: (enqueue, signal) =>
      members.start((cluster) => refusals.takeWaitingForKinds(cluster).forEach((key) => enqueue(key)), signal),
    isQuiet: () => members.isQuiet(),
  });

  const { followClusters = true, served } = options;
  return {
    watches: [
      { source: lanes.source },
      ...(followClusters ? [watch(Cluster, afterClusterChange)] : []),
      ...(served ? [{ source: waitingOn(served) }] : []),
    ],
    status,
    lanes,
    oscillations,
    onlyServed: (controller) => ({
      ...controller,
      reconcile: async (key, context) =>
        serves(memberOfKey(key)) || !works.get(key) ? controller.reconcile(key, context) : done,
    }),
    backoffMs: (work, key) => refusals.restMs(key, () => questionOf(work), clock.now()),
    visit,
    retry,
    forget(key) {
      lanes.forget(memberOfKey(key), key);
      refusals.forget(key);
      oscillations.forget(key);
    },
    isQuiet: () => status.isQuiet(),
    close: () => status.close(),
  };
}
