import { defined } from "@flotilla/base";
/**
 * Conditions describe the current state. They are updated only when one of their fields changed, so that a converged
 * object is not written again.
 */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
}

export interface NextCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number | undefined;
}

export function findCondition<C extends { readonly type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(
  conditions: readonly { readonly type: string; readonly status: string }[] | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/**
 * The conditions with `next` set: the same list when nothing changed. `lastTransitionTime` is updated only when the
 * status changes.
 */
export function withCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  next: NextCondition,
  now: string,
): readonly C[] {
  const list = conditions ?? [];
  const before = findCondition(list, next.type);
  const { observedGeneration, ...rest } = next;
  const isSame =
    before !== undefined &&
    before.status === next.status &&
    before.reason === next.reason &&
    before.message === next.message &&
    before.observedGeneration === observedGeneration;
  if (isSame && conditions) return conditions;
  const { observedGeneration: _stale, ...kept } = (before ?? {}) as Partial<Condition>;
  const lastTransitionTime =
    before?.status === next.status && before.lastTransitionTime ? before.lastTransitionTime : now;
  const changed = {
    ...kept,
    ...rest,
    ...defined({ observedGeneration }),
    lastTransitionTime,
  } as unknown as C;
  return before ? list.map((condition) => (condition === before ? changed : condition)) : [...list, changed];
}
