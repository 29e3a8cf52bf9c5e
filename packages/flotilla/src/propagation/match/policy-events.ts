/**
 * Events of match on a template, with Karmada's reasons. A success that is visible in the binding is not reported; one
 * that ends a failure or moves the template to another policy is. Each is reported once.
 */
import { idOfKey, keyOf } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import type { Template } from "../templates/templates.ts";
import { claimOf, type Policy } from "./plan-match.ts";

export interface PolicyEvents {
  failed(template: Template, policy: Policy, message: string): void;
  applied(template: Template, policy: Policy): void;
  preempted(template: Template, by: Policy, from: Policy): void;
  notPreempted(template: Template, by: Policy, from: Policy, message: string): void;
  /** What a deleted object of the same name left is removed. */
  replaced(template: Template, message: string): void;
  forget(template: Template): void;
}

function nameOfPolicy({ kind, metadata }: Pick<Policy, "kind" | "metadata">): string {
  return metadata.namespace ? `${kind} ${metadata.namespace}/${metadata.name}` : `${kind} ${metadata.name}`;
}

export function createPolicyEvents(hub: string, events: EventRecorder): PolicyEvents {
  /** By template; only templates that currently fail. */
  const failing = new Map<string, string>();
  const idOf = (template: Template): string =>
    `${template.apiVersion}/${template.kind}/${idOfKey(keyOf(hub, template))}`;

  function reportFailed(template: Template, reason: string, message: string): void {
    if (failing.get(idOf(template)) === message) return;
    failing.set(idOf(template), message);
    events.record(hub, template, { type: "Warning", reason, message });
  }

  return {
    failed: (template, policy, message) =>
      reportFailed(template, "ApplyPolicyFailed", `${nameOfPolicy(policy)} is not applied: ${message}`),
    notPreempted: (template, by, from, message) =>
      reportFailed(
        template,
        "PreemptPolicyFailed",
        `${nameOfPolicy(by)} cannot take this object over from ${nameOfPolicy(from)}: ${message}`,
      ),
    applied(template, policy) {
      const claim = claimOf(template);
      const isMoved =
        claim !== undefined && (claim.name !== policy.metadata.name || claim.namespace !== policy.metadata.namespace);
      if (!failing.delete(idOf(template)) && !isMoved) return;
      events.record(hub, template, {
        type: "Normal",
        reason: "ApplyPolicySucceed",
        message: `${nameOfPolicy(policy)} is applied`,
      });
    },
    preempted(template, by, from) {
      failing.delete(idOf(template));
      events.record(hub, template, {
        type: "Normal",
        reason: "PreemptPolicySucceed",
        message: `${nameOfPolicy(by)} has taken this object over from ${nameOfPolicy(from)}`,
      });
    },
    replaced: (template, message) =>
      events.record(hub, template, { type: "Normal", reason: "EarlierRunReplaced", message }),
    forget: (template) => void failing.delete(idOf(template)),
  };
}
