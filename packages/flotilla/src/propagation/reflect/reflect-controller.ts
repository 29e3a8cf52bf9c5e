/**
 * Reflect collects the status of a member's objects into their Work.
 *
 * Reads: Work, the member's objects.
 * Writes: `manifestStatuses` and the conditions `Healthy` and `Interpreted` of the Work.
 * Before: execute applied the manifests. After: aggregate combines the Works of a binding.
 */
import { Work, WORK_NAME } from "@flotilla/karmada";
import { formatTime } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { isReleasedFrom } from "../../delivery/marks.ts";
import { progressTiming, SETTLED_TIMING } from "../../delivery/status-timing.ts";
import { defineController, done } from "@flotilla/controller-runtime";
import type { Controller, Source, StatusWriter } from "@flotilla/controller-runtime";
import { servesAsItIs } from "../members/foreign-copies.ts";
import { manifestsOf, refOf } from "../members/member-objects.ts";
import type { MemberObjects } from "../members/member-objects.ts";
import type { RuleFailure, ReportRuleFailure } from "../rules/rule-failures.ts";
import { isPreliminary, planReflection, readObject, withoutGeneration } from "./plan-reflection.ts";
import type { ObservedManifest, ReadingRules } from "./plan-reflection.ts";

export interface ReflectDependencies {
  memberObjects: MemberObjects;
  interpreter: ReadingRules;
  /** Works whose interpreter rules changed. */
  ruleChanges: Source<ObjectKey>;
  reportRuleFailure: ReportRuleFailure;
  workStatus: StatusWriter<Work>;
  clock: Clock;
}

const CONCURRENCY = 64;

export function createReflectController({
  memberObjects,
  interpreter,
  ruleChanges,
  reportRuleFailure,
  workStatus,
  clock,
}: ReflectDependencies): Controller<ObjectKey> {
  return defineController({
    name: "reflect",
    for: Work,
    // Its own part of the status is as it planned it, and the others' parts are not read.
    concerns: (event) => !workStatus.wrote(event),
    watches: [{ source: memberObjects.source() }, { source: ruleChanges }],
    writes: [Work],
    concurrency: CONCURRENCY,

    async reconcile(work, { key }) {
      if (work.metadata.deletionTimestamp) return done;
      const failed = new Set<RuleFailure>();
      const onFailure = (reason: RuleFailure, error: unknown): void => {
        failed.add(reason);
        reportRuleFailure(work, reason, error);
      };
      const sights = manifestsOf(work).map(async (manifest): Promise<ObservedManifest> => {
        const ref = refOf(manifest);
        const object = memberObjects.get(work, ref);
        const resource = memberObjects.resourceOf(work, ref);
        if (!object && memberObjects.isFresh(work, ref)) return "absent";
        if (!object || resource === undefined) return undefined;
        const isOurs = object.metadata.annotations?.[WORK_NAME] === work.metadata.name;
        // A released object still runs for the template, and its current status is better than the last known one.
        const isReleased = isReleasedFrom(object, `${key.namespace ?? ""}/${key.name}`);
        // Any other object of the same name is ignored here; execute reports it.
        if (!isOurs && !isReleased && !servesAsItIs(manifest)) return undefined;
        return {
          ref,
          resource,
          reading: await readObject(isReleased ? withoutGeneration(object) : object, interpreter, onFailure),
        };
      });
      const seen = await Promise.all(sights);
      // Only a successful read shows that the rule works again.
      if (seen.some((view) => typeof view === "object"))
        for (const reason of ["ReflectStatusFailed", "InterpretHealthFailed"] as const)
          if (!failed.has(reason)) reportRuleFailure.over(work, reason);
      const now = formatTime(clock.now());
      const reflected = planReflection(work, seen, now);
      if (reflected !== work) {
        const isSettled = reflected.status?.manifestStatuses?.every(({ health }) => health === "Healthy");
        workStatus.set(
          key,
          "reflect",
          (newest) => planReflection(newest, seen, now),
          isSettled ? SETTLED_TIMING : progressTiming(isPreliminary(work, reflected)),
        );
      }
      return done;
    },
  });
}
