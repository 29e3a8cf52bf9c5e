/** A button that changes something: it knows whether the viewer may, says what it would run, and reports the result. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { t } from "../i18n.ts";
import { rightText, useRights } from "./hooks.ts";
import type { Right } from "./hooks.ts";
import { showToast } from "./toast.tsx";

export interface ActionProps {
  children: ComponentChildren;
  /** What the hub must allow. */
  needs: Right;
  /** The command line that does the same. */
  line: string;
  run(): Promise<unknown>;
  done?: string;
  kind?: "primary" | "danger" | "usual";
  disabled?: boolean;
}

export function Action({ children, needs, line, run, done, kind = "usual", disabled = false }: ActionProps) {
  const [allowed] = useRights([needs]);
  const [busy, setBusy] = useState(false);
  const reason = allowed === false ? t("You lack the right: {right}", { right: rightText(needs) }) : line;
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      await run();
      showToast({ text: done ?? t("Done"), line });
    } catch (error) {
      showToast({ text: error instanceof Error ? error.message : String(error), bad: true, line });
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      class={kind}
      title={reason}
      aria-disabled={allowed === false || disabled || busy}
      onClick={() => {
        if (allowed === false) showToast({ text: reason, bad: true });
        else if (!disabled && !busy) void start();
      }}
    >
      {children}
    </button>
  );
}
