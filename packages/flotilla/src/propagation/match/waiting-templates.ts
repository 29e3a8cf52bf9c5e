/**
 * Templates that wait for something else than a change of their own, until they are applied or gone. In memory: a restart
 * reconciles all templates.
 */
import { templateId, type TemplateKey } from "../templates/templates.ts";
import { createTakenNames } from "./taken-names.ts";

export interface WaitingTemplates {
  /** For a name of a binding that another template has. */
  names: ReturnType<typeof createTakenNames>;
  /** For the run of a deleted object of their name. */
  runs: Set<string>;
  /** For room in a FederatedResourceQuota that rejects their requests. */
  quota: Map<string, TemplateKey>;
  /** Consecutive failed attempts that were not rejections, by template. */
  failures: Map<string, number>;
  forget(key: TemplateKey): void;
}

export function createWaitingTemplates(): WaitingTemplates {
  const waiting: WaitingTemplates = {
    names: createTakenNames(),
    runs: new Set(),
    quota: new Map(),
    failures: new Map(),
    forget(key) {
      waiting.names.leave(key);
      waiting.runs.delete(templateId(key));
      waiting.quota.delete(templateId(key));
      waiting.failures.delete(templateId(key));
    },
  };
  return waiting;
}
