/** The annotations of policies for the audit log. */
import type { AuditRecord } from "../request/audit-record.ts";

/** A failed validation whose binding has the action Audit, in the form of upstream's log. */
export interface ValidationFailure {
  readonly message: string;
  readonly policy: string;
  readonly binding: string;
  readonly expressionIndex: number;
  readonly validationActions: readonly string[];
}

const FAILURE_KEY = "validation.policy.admission.k8s.io/validation_failure";
const MAX_VALUE_BYTES = 10 * 1024;

export class AuditAnnotations {
  readonly #values = new Map<string, Set<string>>();
  readonly #failures: ValidationFailure[] = [];

  /** A policy may be evaluated several times, with other bindings and parameters; their values are joined. */
  add(policy: string, key: string, value: string): void {
    const name = `${policy}/${key}`;
    let values = this.#values.get(name);
    if (!values) this.#values.set(name, (values = new Set()));
    values.add(Buffer.from(value).subarray(0, MAX_VALUE_BYTES).toString());
  }

  addFailure(failure: ValidationFailure): void {
    this.#failures.push(failure);
  }

  publish(record: Pick<AuditRecord, "annotate"> | undefined): void {
    for (const [key, values] of this.#values) record?.annotate(key, [...values].join(", "));
    if (this.#failures.length > 0) record?.annotate(FAILURE_KEY, JSON.stringify(this.#failures));
  }
}
