import { useState } from 'react';
import { applyTheme, readTheme, type Theme } from '../shell/theme.ts';
import { Panel } from '../ui/page.tsx';
import { Select } from '../ui/select.tsx';

const THEMES = [
  { id: 'system', label: 'As the system' },
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const;

/** Chooses the colours of the console, in this browser. */
export function ColoursPanel() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  return (
    <Panel
      title="Colours"
      actions={
        <Select
          label="Colours"
          hideLabel
          options={THEMES}
          value={theme}
          onChange={(chosen) => {
            applyTheme(chosen);
            setTheme(chosen);
          }}
        />
      }
    >
      <p>They are kept in this browser.</p>
    </Panel>
  );
}
