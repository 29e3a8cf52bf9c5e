/**
 * Measures deliveries to members under Karmada's names: objects created, updated and deleted, and why members rejected
 * them. Labels are kinds and members, never object names.
 */
import { counter, Counts } from "@flotilla/base";
import type { Metric, MetricsText } from "@flotilla/base";
import { BusyMemberError } from "../delivery/member-lanes.ts";
import { obstacleOf } from "../delivery/obstacles.ts";
import type { ApplyOutcome, ApplyPolicy, Delivery } from "../delivery/delivery.ts";
import { ApiError } from "@flotilla/apimachinery";
import { resultOf } from "./pipeline-meter.ts";

const CREATED = counter(
  "create_resource_to_cluster",
  "Objects created on a member; recreate reports whether the object had existed before.",
  "result",
  "apiversion",
  "kind",
  "member_cluster",
  "recreate",
);
const UPDATED = counter(
  "update_resource_to_cluster",
  "Comparisons of member objects with the desired state, by result.",
  "result",
  "apiversion",
  "kind",
  "member_cluster",
  "operationResult",
);
const DELETED = counter(
  "delete_resource_from_cluster",
  "Objects deleted from a member.",
  "result",
  "apiversion",
  "kind",
  "member_cluster",
);
const REFUSED = counter(
  "flotilla_delivery_refusals_total",
  "Failed deliveries to a member, by reason: quota, forbidden, invalid, conflict, missing-kind, unreachable or other.",
  "member_cluster",
  "reason",
);
const DRIFTS = counter(
  "flotilla_delivery_drift_total",
  "Objects on a member with drift, by action: repaired, or reported and left.",
  "member_cluster",
  "action",
);

export const deliveryMetrics: readonly Metric[] = [CREATED, UPDATED, DELETED, REFUSED, DRIFTS];

type Manifest = Parameters<Delivery["apply"]>[0];

export interface DeliveryMeter {
  /**
   * Returns the delivery with measuring added; the same wrapper for the same delivery, because the pipeline identifies
   * members by it.
   */
  around(cluster: string, delivery: Delivery): Delivery;
  /** Drops the series of a removed member. */
  forget(cluster: string): void;
  write(text: MetricsText): void;
}

export interface DeliveryMeterOptions {
  /** Called for every object that was created or updated on a member. */
  onDelivered?(cluster: string, manifest: Manifest): void;
}

export function createDeliveryMeter({ onDelivered }: DeliveryMeterOptions = {}): DeliveryMeter {
  const created = new Counts(CREATED);
  const updated = new Counts(UPDATED);
  const deleted = new Counts(DELETED);
  const refused = new Counts(REFUSED);
  const drifts = new Counts(DRIFTS);
  const measured = new WeakMap<Delivery, Delivery>();

  function count(
    cluster: string,
    { apiVersion, kind }: Manifest,
    policy: ApplyPolicy,
    result: string,
    operation: ApplyOutcome["result"],
  ): void {
    if (operation === "created") created.add([result, apiVersion, kind, cluster, String(!policy.isFirst)]);
    else
      updated.add([
        result,
        apiVersion,
        kind,
        cluster,
        operation === "updated" || operation === "unchanged" ? operation : "none",
      ]);
  }

  function noteRefusal(cluster: string, error: unknown): boolean {
    // The delivery waits for its turn and is retried.
    if (error instanceof BusyMemberError) return false;
    refused.add([cluster, reasonOf(error)]);
    return true;
  }

  function wrap(cluster: string, delivery: Delivery): Delivery {
    return {
      ...delivery,
      async apply(manifest, policy, signal) {
        try {
          const outcome = await delivery.apply(manifest, policy, signal);
          if (outcome.result === "conflict") refused.add([cluster, "conflict"]);
          count(cluster, manifest, policy, resultOf(outcome.result !== "conflict"), outcome.result);
          if ("drift" in outcome && outcome.drift?.length)
            drifts.add([cluster, policy.drift === "report" ? "reported" : "repaired"]);
          if (outcome.result === "created" || outcome.result === "updated") onDelivered?.(cluster, manifest);
          return outcome;
        } catch (error) {
          if (!signal.aborted && noteRefusal(cluster, error))
            count(cluster, manifest, policy, "error", policy.isFirst ? "created" : "unchanged");
          throw error;
        }
      },
      async remove(ref, policy, signal) {
        const { apiVersion, kind } = ref;
        try {
          const removed = await delivery.remove(ref, policy, signal);
          // A deletion is checked until the object is gone, and counts once.
          if (policy.mode === "delete" && removed === "gone") deleted.add(["success", apiVersion, kind, cluster]);
          return removed;
        } catch (error) {
          if (!signal.aborted && noteRefusal(cluster, error) && policy.mode === "delete")
            deleted.add(["error", apiVersion, kind, cluster]);
          throw error;
        }
      },
    };
  }

  return {
    around(cluster, delivery) {
      let known = measured.get(delivery);
      if (!known) measured.set(delivery, (known = wrap(cluster, delivery)));
      return known;
    },
    forget(cluster) {
      for (const family of [created, updated, deleted, refused, drifts]) family.forget("member_cluster", cluster);
    },
    write(text) {
      for (const family of [created, updated, deleted, refused, drifts]) family.write(text);
    },
  };
}

/** A fixed set of short reasons, because they are labels. Kubernetes has no status code for an exceeded quota. */
function reasonOf(error: unknown): string {
  const obstacle = obstacleOf(error);
  if (obstacle === "unreachable" || obstacle === "missing-kind") return obstacle;
  if (!(error instanceof ApiError)) return "other";
  const { code, message = "" } = error.status;
  if (code === 403) return message.includes("exceeded quota") ? "quota" : "forbidden";
  if (code === 401) return "forbidden";
  if (code === 400 || code === 422) return "invalid";
  return code === 409 ? "conflict" : "other";
}
