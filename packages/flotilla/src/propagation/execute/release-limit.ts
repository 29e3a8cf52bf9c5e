/**
 * Decides whether a Retain rule lets a release reach more pods of a member than its copy asks for: the rule kept the
 * member's partition, pause, strategy or replicas, and the copy brings another pod template. Pure.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { exceededByCreation, ROLLOUT_STAGE } from "@flotilla/openkruise";
import { holdsIn } from "../../delivery/matches-desired.ts";
import { StoppedWriteError } from "../../delivery/stopped-write.ts";
import { podsOf, reachedPods, RELEASE_LIMITS, specOf, valueAt } from "../../interpreter/release-reach.ts";

type Copy = DeepReadonly<KubernetesObject>;

export interface ExceededRelease {
  /** The first field that differs, and its values. */
  path: string;
  asked: Json | undefined;
  kept: Json | undefined;
  /** Pods that would get the pod template of the copy, and the number that the copy asks for. */
  pods: number;
  askedPods: number;
}

/** `asked` is the copy, `retained` the copy after the rule, `observed` the member's object. */
export function exceededRelease(asked: Copy, retained: Copy, observed: Copy): ExceededRelease | undefined {
  if (asked === retained) return undefined;
  const [want, next, now] = [specOf(asked), specOf(retained), specOf(observed)];
  const path = RELEASE_LIMITS.find((each) => !equalJson(valueAt(want, each), valueAt(next, each)));
  if (!path || holdsIn(next["template"], now["template"])) return undefined;
  const askedPods = reachedPods(want);
  // A copy that keeps nothing back limits nothing.
  if (askedPods >= podsOf(want)) return undefined;
  const pods = reachedPods(next);
  if (pods <= askedPods) return undefined;
  return { path: `spec.${path.join(".")}`, asked: valueAt(want, path), kept: valueAt(next, path), pods, askedPods };
}

/**
 * The copy after a Retain rule, without the stage of a release whose pod template the rule keeps from the member: the
 * member would otherwise report its old pods as those of the release.
 */
export function withStageOf(asked: Copy, retained: Copy, observed: Copy): Copy {
  const { [ROLLOUT_STAGE]: next, ...others } = retained.metadata.annotations ?? {};
  const { [ROLLOUT_STAGE]: now } = observed.metadata.annotations ?? {};
  const [want, kept] = [specOf(asked)["template"], specOf(retained)["template"]];
  if (next === undefined || next === now || equalJson(want, kept) || holdsIn(want, kept)) return retained;
  const annotations = now === undefined ? others : { ...others, [ROLLOUT_STAGE]: now };
  return { ...retained, metadata: { ...retained.metadata, annotations } };
}

/** The fields that limit a release and have another value on the member than in its copy. */
export function limitsOnMember(
  asked: Copy,
  observed: Copy,
): { path: string; before: Json | undefined; after: Json | undefined }[] {
  const [want, now] = [specOf(asked), specOf(observed)];
  return RELEASE_LIMITS.filter((path) => {
    const value = valueAt(want, path);
    return value !== undefined && !holdsIn(value, valueAt(now, path));
  }).map((path) => ({ path: `spec.${path.join(".")}`, before: valueAt(want, path), after: valueAt(now, path) }));
}

/** A release that was not written, because it would have reached more pods than requested. */
export class ReleaseStoppedError extends StoppedWriteError {
  constructor(message: string) {
    super("ReleaseStopped", message);
  }
}

/** A copy that was not created, because all its pods would have got a release that is meant for some of them. */
export class ReleaseStartsOverError extends StoppedWriteError {
  constructor(message: string) {
    super("ReleaseStartsOver", message);
  }
}

/** Throws if creating the copy would start more pods of its pod template than it asks for. */
export function refuseWiderCreation(copy: Copy, kept: string | undefined): void {
  const exceeded = exceededByCreation(copy, kept);
  if (exceeded)
    throw new ReleaseStartsOverError(
      `the member no longer has the object, and a new one would start ${exceeded.all} pods of its pod ` +
        `template instead of ${exceeded.asked}: it is created with the template of the last complete ` +
        "release, and the current one then continues",
    );
}

/** `owner` is the user's object that has the rule. */
export function renderExceeded({ path, asked, kept, pods, askedPods }: ExceededRelease, owner: string): string {
  return (
    `the release is not sent: the Retain rule of ${owner} keeps ${path} of the member (${text(kept)}; the hub ` +
    `asks for ${text(asked)}), so that ${pods} pods would get it instead of ${askedPods}`
  );
}

const text = (value: Json | undefined): string => (value === undefined ? "unset" : JSON.stringify(value));
