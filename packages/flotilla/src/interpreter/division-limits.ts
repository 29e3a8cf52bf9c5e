/**
 * Rejects divisions by users' rules that would run or release more pods than the template asks for, or that are of an
 * earlier template.
 */
import { DivideError } from "@flotilla/openkruise";
import { InterpretError } from "@flotilla/kubernetes";
import type { Replicas, Share } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { removedLimit } from "./release-reach.ts";

type AnyObject = DeepReadonly<KubernetesObject>;

interface Rules {
  /** The replicas that the rules of all levels count. */
  ask(object: AnyObject): Promise<Replicas | undefined>;
  ownerOf(rule: "replicas" | "reviseReplicas", object: AnyObject): string | undefined;
  levelOf(rule: "replicas", object: AnyObject): string | undefined;
  replacedReplicas(object: AnyObject): Promise<number | undefined>;
}

export function createDivisionLimits({ ask, ownerOf, levelOf, replacedReplicas }: Rules) {
  /**
   * A binding without replicas may be older than the rule that counts them: revising its copies to nothing would stop what
   * runs. Only members that run nothing may get nothing.
   */
  async function rejectUncounted(object: AnyObject, shares: readonly Share[]): Promise<void> {
    const given = shares.flatMap(({ copy }) => copy ?? []);
    if (given.length === 0 || shares.some(({ replicas }) => replicas > 0)) return;
    const total = (await ask(object))?.replicas ?? 0;
    if (total === 0) return;
    for (const copy of given)
      if ((await ask(copy))?.replicas !== 0)
        throw new InterpretError(
          `dividing ${object.kind} ${object.metadata.name}: its ${total} replicas are not scheduled yet; members keep their copies`,
        );
  }

  /**
   * While a user's GetReplicas fails, the shares are those of an earlier template: with another number of replicas, a
   * partition would release another part of the pods than the template asks for.
   */
  async function rejectOldShares(object: AnyObject, shares: readonly Share[]): Promise<void> {
    const owner = ownerOf("replicas", object);
    if (owner === undefined || levelOf("replicas", object) === "webhook") return;
    try {
      await ask(object);
    } catch (error) {
      if (!(error instanceof InterpretError)) throw error;
      const asked = await replacedReplicas(object);
      const given = shares.some(({ isWhole }) => isWhole)
        ? shares[0]?.replicas
        : shares.reduce((sum, { replicas }) => sum + replicas, 0);
      if (asked === undefined || asked === given) return;
      throw new InterpretError(
        `dividing ${object.kind} ${object.metadata.name}: GetReplicas of ${owner} fails, and the template ` +
          `asks for ${asked} replicas instead of ${given ?? 0}, so members keep their copies: ${error.message}`,
      );
    }
  }

  const ofOwner = (object: AnyObject): string => {
    const owner = ownerOf("reviseReplicas", object);
    return owner === undefined ? "" : ` of ${owner}`;
  };

  /** A copy without the partition, pause or strategy of the template would release it to all its pods. */
  function rejectUnlimitedReleases(object: AnyObject, copies: ReadonlyMap<string, AnyObject>): void {
    const owner = ownerOf("reviseReplicas", object);
    if (owner === undefined) return;
    for (const [cluster, copy] of copies) {
      const path = removedLimit(object, copy);
      if (path !== undefined)
        throw new InterpretError(
          `dividing ${object.kind} ${object.metadata.name}: ReviseReplica of ${owner} takes ${path} away from ` +
            `the copy of ${cluster}, so that a release would reach all its pods`,
        );
    }
  }

  /** Counted replicas that no rule sets would run in full on every member. */
  async function rejectDuplicatedReplicas(
    object: AnyObject,
    shares: readonly Share[],
    copies: ReadonlyMap<string, AnyObject>,
    hasRule: boolean,
  ): Promise<void> {
    const unrevised = shares.filter(({ cluster, isWhole }) => !isWhole && equalJson(copies.get(cluster), object));
    if (unrevised.length === 0) return;
    const total = (await ask(object))?.replicas;
    const wrong = unrevised.find(({ replicas }) => replicas !== total);
    if (!wrong) return;
    const doing = `dividing ${object.kind} ${object.metadata.name}`;
    if (!hasRule)
      throw new DivideError(
        `${doing}: its ${total} replicas are counted but no rule sets them; add ReviseReplica (replicaRevision of a customization), or duplicate them`,
      );
    throw new InterpretError(
      `${doing}: ReviseReplica${ofOwner(object)} to ${wrong.replicas} of ${total} replicas for ${wrong.cluster} changes nothing`,
    );
  }

  /** A copy with more replicas than its share would run more pods than requested. */
  async function rejectExcessReplicas(
    object: AnyObject,
    shares: readonly Share[],
    copies: ReadonlyMap<string, AnyObject>,
  ): Promise<void> {
    const owner = ownerOf("reviseReplicas", object);
    // A division must not cost a webhook more calls than it does.
    if (owner === undefined || levelOf("replicas", object) === "webhook") return;
    // Members with the same number of replicas have the same copy.
    const checked = new Set<number>();
    for (const { cluster, replicas, isWhole } of shares) {
      const copy = copies.get(cluster);
      if (isWhole || !copy || checked.size === checked.add(replicas).size) continue;
      const counted = (await ask(copy))?.replicas ?? 0;
      if (counted > replicas)
        throw new InterpretError(
          `dividing ${object.kind} ${object.metadata.name}: ReviseReplica of ${owner} to ${replicas} replicas for ${cluster} returns a copy with ${counted}`,
        );
    }
  }

  return {
    rejectOldShares,
    rejectUncounted,
    rejectDuplicatedReplicas,
    rejectExcessReplicas,
    rejectUnlimitedReleases,
  };
}
