/** Editor and plan side by side. Apply needs the plan of exactly the text that is shown. */
import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { apiPath } from "../../src/release.ts";
import { lineOfMessage } from "../../src/error-line.ts";
import { t } from "../i18n.ts";
import { pluralOf } from "../kinds.ts";
import { askPlan } from "../plan.ts";
import type { Plan } from "../plan.ts";
import { hub, request, RequestError } from "../session.ts";
import { Command } from "./command.tsx";
import { Editor } from "./editor.tsx";
import { PlanView } from "./plan-view.tsx";
import { showToast } from "./toast.tsx";

const PLAN_MS = 400;

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
}

export interface ApplyPanelProps {
  text: string;
  onText(text: string): void;
  namespace: string;
  /** Shown above the editor. */
  children?: ComponentChildren;
  applied?(): void;
}

export function ApplyPanel({ text, onText, namespace, children, applied }: ApplyPanelProps) {
  const [state, setState] = useState<{ text: string; plan?: Plan; error?: string }>({ text: "" });
  const [busy, setBusy] = useState(false);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (text.trim() === "") return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      askPlan({ text, namespace }, stop.signal).then(
        (plan) => setState({ text, plan }),
        (error: Error) => !stop.signal.aborted && setState({ text, error: error.message }),
      );
    }, PLAN_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, namespace, attempt]);
  const isCurrent = state.text === text && text.trim() !== "";
  const { plan, error } = isCurrent ? state : {};
  const count = plan ? plan.hub.length : 0;
  const apply = async (force: boolean): Promise<void> => {
    setBusy(true);
    try {
      const manifests = await request<Manifest[]>("manifests", { method: "POST", body: { text } });
      for (const manifest of manifests) await applyOne(manifest, namespace, force);
      showToast({ text: t("{count} objects applied", { count: manifests.length }), line: "flotilla apply -f -" });
      applied?.();
      setAttempt((old) => old + 1);
    } catch (failure) {
      const message = failure instanceof Error ? failure.message : String(failure);
      if (failure instanceof RequestError && failure.status === 409 && !force) {
        if (confirm(`${message}\n\n${t("Take these fields over?")}`)) {
          await apply(true);
          return;
        }
      }
      showToast({ text: message, bad: true });
    } finally {
      setBusy(false);
    }
  };
  const marks =
    error === undefined ? [] : [{ line: lineOfMessage(error, text), severity: "error" as const, message: error }];
  return (
    <div class="apply-panel">
      <div class="controls">
        {children}
        <span class="end controls">
          {text.trim() === "" ? null : !isCurrent ? <span class="muted">{t("planning…")}</span> : null}
          <button
            type="button"
            class="primary"
            aria-disabled={!plan || count === 0 || busy}
            onClick={() => plan && count > 0 && !busy && void apply(false)}
          >
            {count > 0 ? t("Apply {count} changes", { count }) : t("Apply")}
          </button>
        </span>
      </div>
      <div class="apply-halves">
        <Editor label={t("Manifests")} value={text} marks={marks} onChange={onText} />
        <section class="panel plan-panel" aria-live="polite" aria-label={t("Plan")} tabIndex={0}>
          {text.trim() === "" ? (
            <p class="muted">
              {t(
                "Write or paste manifests, or drop files here. The plan appears as you type; nothing is written before you press Apply.",
              )}
            </p>
          ) : error !== undefined ? (
            <p class="bad">{error}</p>
          ) : plan ? (
            <PlanView plan={plan} />
          ) : (
            <p class="muted">{t("planning…")}</p>
          )}
          <Command line="flotilla plan -f FILE && flotilla apply -f FILE" />
        </section>
      </div>
    </div>
  );
}

/** Server-side apply: fields of other writers are kept, and a conflict names them. */
async function applyOne(manifest: Manifest, namespace: string, force: boolean): Promise<void> {
  const plural = await pluralOf(manifest.apiVersion, manifest.kind);
  const kindNamespace = manifest.metadata.namespace ?? ((await isNamespaced(manifest)) ? namespace : "");
  const path = apiPath(manifest.apiVersion, plural, kindNamespace, manifest.metadata.name);
  await hub(`${path}?fieldManager=flotilla-ui&fieldValidation=Strict${force ? "&force=true" : ""}`, {
    method: "PATCH",
    type: "application/apply-patch+yaml",
    body: JSON.stringify(manifest),
  });
}

async function isNamespaced({ apiVersion, kind }: Manifest): Promise<boolean> {
  const { resources } = await hub<{ resources: { kind: string; namespaced: boolean }[] }>(
    apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`,
  );
  return resources.find((each) => each.kind === kind)?.namespaced ?? false;
}
