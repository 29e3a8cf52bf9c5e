/**
 * Decides what applying a policy to a template does: reject it with a reason, write only the claim, or write the binding
 * as well. Pure.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import { runningOn } from "../jobs/finished-run.ts";
import { derivedNameProblem } from "../templates/derived-names.ts";
import type { Template, TemplateKey } from "../templates/templates.ts";
import { planActivation } from "./lazy-activation.ts";
import { bindingConflict } from "./plan-binding.ts";
import type { Policy } from "./plan-match.ts";
import type { Prerequisites } from "./prerequisites.ts";

type Binding = DeepReadonly<ResourceBinding>;

export interface ApplicationInput {
  readonly key: TemplateKey;
  readonly template: Template;
  /** The template in the version that the policy's selector names. */
  readonly selected: Template;
  readonly policy: Policy;
  /** The policy that the template is taken from. */
  readonly preempted: Policy | undefined;
  readonly needs: Prerequisites;
  /** The binding with the template's name, whichever object it belongs to. */
  readonly binding: Binding | undefined;
}

export type ApplicationPlan =
  /** Only a change of the policy, of its prerequisites, or the deletion of the other binding helps. */
  | {
      readonly outcome: "rejected";
      readonly reason: string;
      readonly message: string;
      /** The deletion of the binding with the name helps. */
      readonly isNameTaken?: true;
      /** So does the status of that binding. */
      readonly awaitsRun?: true;
    }
  /** The binding of an earlier object of this name is being garbage-collected. */
  | { readonly outcome: "claimed until the earlier binding is gone"; readonly claimDigest: string | undefined }
  /** A deleted object of this name has run and left its copies: they are deleted, so that this one runs. */
  | {
      readonly outcome: "replaces an earlier run";
      readonly claimDigest: undefined;
      readonly earlier: Binding;
      readonly message: string;
    }
  /** The policy is lazy, and the template has not changed since. */
  | {
      readonly outcome: "claimed until the template changes";
      readonly claimDigest: string | undefined;
      readonly digest: string;
      readonly own: Binding | undefined;
    }
  | {
      readonly outcome: "bound";
      readonly claimDigest: undefined;
      readonly digest: string | undefined;
      readonly own: Binding | undefined;
      readonly schedulePriority: number | undefined;
      /**
       * A new template is claimed while its binding is created, so that the two writes run in parallel; the claim exists
       * before later stages read the template. Otherwise the claim comes first: a policy that may not have the template
       * must not change its binding.
       */
      readonly claimsInParallel: boolean;
    };

export function planApplication(input: ApplicationInput): ApplicationPlan {
  const { key, template, selected, policy, preempted, needs, binding } = input;
  if (!needs.met) return { outcome: "rejected", reason: needs.reason, message: needs.message };
  const badName = derivedNameProblem(key.kind, key.namespace, key.name);
  if (badName !== undefined) return { outcome: "rejected", reason: "BindingNameInvalid", message: badName };
  const conflict = binding && bindingConflict(binding, template);
  if (conflict === "other") {
    const message = renderTaken(binding?.metadata.name ?? "", binding?.spec.resource);
    return { outcome: "rejected", reason: "BindingNameTaken", message, isNameTaken: true };
  }
  const own = conflict ? undefined : binding;
  const activation = planActivation(policy, selected, own);
  const claimDigest = activation.when === "later" && !own ? activation.digest : undefined;
  if (conflict === "earlier") return { outcome: "claimed until the earlier binding is gone", claimDigest };
  if (activation.when === "later")
    return { outcome: "claimed until the template changes", claimDigest, digest: activation.digest, own };
  if (conflict === "left" && binding) {
    const message = earlierRunProblem(binding);
    return message === undefined
      ? {
          outcome: "replaces an earlier run",
          claimDigest: undefined,
          earlier: binding,
          message: renderReplaced(binding),
        }
      : { outcome: "rejected", reason: "EarlierRunUnfinished", message, isNameTaken: true, awaitsRun: true };
  }
  return {
    outcome: "bound",
    claimDigest: undefined,
    digest: activation.digest,
    own,
    schedulePriority: needs.schedulePriority,
    claimsInParallel: !binding && !preempted,
  };
}

/** Part of the message, by which others recognise it. */
export const EARLIER_RUN = "has left copies that are not finished on";

/** Why the run of a deleted object keeps the binding; undefined when it has finished. */
export function earlierRunProblem(binding: Binding): string | undefined {
  const running = runningOn(binding);
  if (running.length === 0) return undefined;
  const { kind, name } = binding.spec.resource;
  const { namespace } = binding.metadata;
  const where = namespace ? ` -n ${namespace}` : "";
  return (
    `a deleted ${kind} ${name} ${EARLIER_RUN} ${running.join(", ")}; the new one runs when they ` +
    `are, or when 'kubectl delete ${binding.kind.toLowerCase()} ${binding.metadata.name}${where}' has deleted them`
  );
}

function renderReplaced({ spec: { resource, clusters = [] } }: Binding): string {
  const names = clusters.map(({ name }) => name).join(", ");
  return `the finished copies of a deleted ${resource.kind} ${resource.name}${names && ` on ${names}`} are deleted, so that this one runs`;
}

function renderTaken(binding: string, resource: Binding["spec"]["resource"] | undefined): string {
  return (
    `binding ${binding} belongs to ${resource?.kind ?? "an object"} ${resource?.name ?? ""} of ` +
    `${resource?.apiVersion ?? "another group"}, because binding names do not contain the API group; rename ` +
    "one of the two objects"
  );
}
