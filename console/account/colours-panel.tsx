import { applyTheme, THEMES, useTheme } from '../shell/theme.ts';
import { Panel } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';

/** Chooses the colours of the console, in this browser. */
export function ColoursPanel() {
  const theme = useTheme();
  return (
    <Panel
      title="Colours"
      actions={<Select label="Colours" hideLabel options={THEMES} value={theme} onChange={applyTheme} />}
    >
      <p>They are kept in this browser.</p>
    </Panel>
  );
}
