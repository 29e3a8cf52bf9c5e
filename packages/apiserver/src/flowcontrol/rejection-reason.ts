/** Why priority and fairness rejects a request. */

export type RejectionReason = "queue-full" | "concurrency-limit" | "time-out" | "cancelled";
