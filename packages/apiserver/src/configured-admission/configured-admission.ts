/**
 * The policies and webhooks that a cluster has configured, in the order of Kubernetes: mutating policies, mutating
 * webhooks, and after the server's own validation the validating policies and webhooks.
 */
import { isPromise } from "../admission/run-steps.ts";
import { equalJson } from "@flotilla/base";
import type { JsonObject, MetricsText } from "@flotilla/base";
import type { AdmissionRequest } from "../admission-match/admission-request.ts";
import type { AdmissionOperation } from "../admission-match/match-rules.ts";
import { createAdmissionPolicies } from "../policies/admission-policies.ts";
import type { AdmissionPolicyDependencies } from "../policies/admission-policies.ts";
import type { PolicyCandidates } from "../policies/policy-index.ts";
import type { RequestContext } from "../request/context.ts";
import { createAdmissionWebhooks } from "../webhooks/admission-webhooks.ts";
import type { AdmissionWebhookDependencies } from "../webhooks/admission-webhooks.ts";
import type { Candidates } from "../webhooks/registrations.ts";

/** What is configured for a request. */
export interface Configured {
  readonly policies: PolicyCandidates | undefined;
  readonly webhooks: Candidates | undefined;
}

/** Completes a changed object as the server completes a sent one. */
type CompleteObject = (object: JsonObject) => JsonObject | Promise<JsonObject>;

export interface ConfiguredAdmission {
  /** Undefined when nothing is configured for the request. Cheap: two lookups in maps. */
  find(context: RequestContext, operation: AdmissionOperation): Configured | undefined;
  /** Whether webhooks are called, which may take seconds. Policies are not awaited. */
  callsWebhooks(context: RequestContext, operation: AdmissionOperation): boolean;
  /** Undefined when nothing is called and nothing changes; otherwise the object, or undefined when it did not change. */
  mutate(
    configured: Configured,
    request: AdmissionRequest,
    complete: CompleteObject,
  ): Promise<JsonObject | undefined> | undefined;
  /** Throws when a policy or a webhook denies the request. */
  validate(configured: Configured, request: AdmissionRequest): Promise<void> | undefined;
  writeMetrics(cluster: string, text: MetricsText): void;
  /** The cluster was removed. */
  forget(cluster: string): void;
  close(): void;
}

export function createConfiguredAdmission(
  deps: AdmissionPolicyDependencies & AdmissionWebhookDependencies,
): ConfiguredAdmission {
  const policies = createAdmissionPolicies(deps);
  const webhooks = createAdmissionWebhooks(deps);
  /** Awaited only where a conversion webhook or another authorizer has to be asked. */
  const settle = <T>({ context, decisions }: AdmissionRequest, run: () => T): T | Promise<T> =>
    decisions.settle(() => deps.conversions.settle(context, run));

  return {
    find(context, operation) {
      const matching = policies.find(context, operation);
      const called = webhooks.find(context, operation);
      return matching || called ? { policies: matching, webhooks: called } : undefined;
    },
    callsWebhooks: (context, operation) => webhooks.find(context, operation) !== undefined,
    mutate(found, request, complete) {
      const mutation = found.policies?.mutating.length ? policies.mutation(found.policies) : undefined;
      const changing = mutation && settle(request, () => mutation.run(request));
      if (isPromise(changing)) return changing.then((changed) => mutateFrom(changed) ?? changed);
      return mutateFrom(changing);

      function mutateFrom(changed: JsonObject | undefined): Promise<JsonObject | undefined> | undefined {
        const hooks = found.webhooks?.mutating.length ? found.webhooks : undefined;
        if (!changed && !hooks) return undefined;

        const repeat = (object: JsonObject): JsonObject | undefined | Promise<JsonObject | undefined> =>
          mutation && settle(request, () => mutation.repeat({ ...request, object }));
        /** Policies see once more what was changed after them. */
        const completed = async (object: JsonObject): Promise<JsonObject> => {
          const whole = await complete(object);
          const again = await repeat(whole);
          return again ? complete(again) : whole;
        };
        return (async () => {
          let object = changed && (await complete(changed));
          if (hooks)
            object = (await webhooks.mutate(hooks, object ? { ...request, object } : request, completed)) ?? object;
          if (!changed || !object) return object;
          const again = await repeat(object);
          return again ? complete(again) : object;
        })();
      }
    },
    validate(found, request) {
      const { policies: matching, webhooks: called } = found;
      const askWebhooks = (): Promise<void> | undefined =>
        called?.validating.length ? webhooks.validate(called, request) : undefined;
      const evaluating = matching && settle(request, () => policies.validate(matching, request));
      return evaluating instanceof Promise ? evaluating.then(askWebhooks) : askWebhooks();
    },
    writeMetrics(cluster, text) {
      webhooks.writeMetrics(cluster, text);
      policies.writeMetrics(cluster, text);
    },
    forget(cluster) {
      webhooks.forget(cluster);
      policies.forget(cluster);
    },
    close() {
      policies.close();
      webhooks.close();
    },
  };
}

/** Admits an object that is not stored, and that the server does not complete. Returns it as it was changed. */
export async function admitUnstored(
  admission: ConfiguredAdmission,
  found: Configured,
  request: AdmissionRequest,
): Promise<JsonObject | undefined> {
  const changed = await admission.mutate(found, request, (object) => object);
  const isChanged = changed !== undefined && !equalJson(changed, request.object);
  await admission.validate(found, isChanged ? { ...request, object: changed } : request);
  return changed ?? request.object;
}
