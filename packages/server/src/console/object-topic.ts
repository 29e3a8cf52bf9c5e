/**
 * One workload, live: its template and binding on the hub, and on each member the copy and its pods. The copies are
 * watched on the members while a page shows them, because a binding's status arrives up to 3 s later.
 */
import { ApiError, HUB } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { Clock, Log, Timer } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { bindingName, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import type { ObjectRef, ObjectView } from "@flotilla/web";
import { membersOf, objectView } from "./object-view.ts";
import { nameSelector, shortMessage, watchCopy } from "./watch-copy.ts";
import type { MemberCopy } from "./watch-copy.ts";
import { watchObjects } from "./watched-objects.ts";
import type { WatchedObjects } from "./watched-objects.ts";
import { createWorkReader } from "./work-reader.ts";

export interface ObjectTopicOptions {
  client: Client;
  clock: Clock;
  log: Log;
  ref: ObjectRef;
  isReady(member: string): boolean;
  send(view: ObjectView): void;
  fail(reason: string): void;
  signal: AbortSignal;
}

/** A release changes pods and counts of a copy together; more would be seen as a delay. */
const GATHER_MS = 30;
/** Members whose copies are watched: two watches each. Rows of others show what the binding has. */
const MAX_LIVE = 50;

export async function openObjectTopic(options: ObjectTopicOptions): Promise<void> {
  const { client, clock, log, ref, isReady, send, fail, signal } = options;
  const kinds = createKindResolver({ client, cluster: HUB });
  let kind: AnyKind;
  try {
    kind = await kinds.resolve(ref);
  } catch (error) {
    fail(messageOf(error));
    return;
  }
  if (signal.aborted) return;
  const copies = new Map<string, MemberCopy>();
  let timer: Timer | undefined;
  let isFirst = true;

  const changed = (): void => {
    timer ??= clock.after(isFirst ? 0 : GATHER_MS, publish);
  };
  function publish(): void {
    timer = undefined;
    const failure = template.failure();
    if (!template.isListed()) {
      // Without the object nothing true can be shown. Other failures may pass.
      if (failure instanceof ApiError && FINAL.has(failure.status.code ?? 0)) fail(messageOf(failure));
      return;
    }
    isFirst = false;
    send(
      objectView({
        ref,
        template: template.list()[0],
        binding: binding.list()[0],
        works: works.read,
        copies: new Map(Array.from(copies, ([member, copy]) => [member, copy.read()])),
        isReady,
        notes: [noteOf("the object", template), noteOf("the binding", binding), works.note()].filter(Boolean),
      }),
    );
  }

  const named = (name: string) => ({ namespace: ref.namespace || undefined, fieldSelector: nameSelector(name) });
  const hub = { client, clock, log, maxObjects: 1 };
  const template = watchObjects({ ...hub, kind, select: named(ref.name), onChange: changed });
  const bindingKind = (ref.namespace === "" ? ClusterResourceBinding : ResourceBinding) as Kind<ResourceBinding>;
  const binding = watchObjects({
    ...hub,
    kind: bindingKind,
    select: named(bindingName(ref.kind, ref.name)),
    onChange() {
      updateCopies();
      changed();
    },
  });
  const works = createWorkReader({ client, clock, signal, onChange: changed });

  function updateCopies(): void {
    const bound = binding.list()[0];
    const wanted = membersOf(bound).slice(0, MAX_LIVE);
    const isWanted = new Set(wanted);
    for (const [member, copy] of copies)
      if (!isWanted.has(member)) {
        copy.close();
        copies.delete(member);
      }
    for (const member of wanted)
      if (!copies.has(member)) copies.set(member, watchCopy(member, { client, clock, log, ref, kind, changed }));
    works.readAgain(wanted, bound);
  }

  signal.addEventListener("abort", () => {
    timer?.cancel();
    for (const copy of [template, binding, ...copies.values()]) copy.close();
  });
}

/** Invalid, forbidden, not served. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404]);

function noteOf(what: string, watched: Pick<WatchedObjects<never>, "failure">): string {
  const failure = watched.failure();
  return failure === undefined ? "" : `${what} cannot be read: ${shortMessage(failure)}`;
}
