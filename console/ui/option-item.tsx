import { ListBoxItem, Text } from 'react-aria-components';
import field from './field.module.css';
import overlay from './overlay.module.css';

export type Option<Id extends string = string> = { id: Id; label: string; description?: string };

/** An option of a `Select` or `ComboBox`, with its description. */
export function OptionItem({ option: { id, label, description } }: { option: Option }) {
  return (
    <ListBoxItem id={id} textValue={label} className={overlay.item}>
      <div>
        <Text slot="label">{label}</Text>
        {description && (
          <Text slot="description" elementType="div" className={field.help}>
            {description}
          </Text>
        )}
      </div>
    </ListBoxItem>
  );
}
