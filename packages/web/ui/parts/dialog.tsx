/** The browser's own modal dialog: it keeps the focus, closes with Escape, and gives the focus back. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export function Dialog({
  label,
  open,
  onClose,
  children,
  className = "",
}: {
  label: string;
  open: boolean;
  onClose(): void;
  children: ComponentChildren;
  className?: string;
}) {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next key is handled: what is typed right after the dialog was asked for belongs to it.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (!dialog) return;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={element}
      class={className}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) element.current?.close();
      }}
    >
      {open && children}
    </dialog>
  );
}
