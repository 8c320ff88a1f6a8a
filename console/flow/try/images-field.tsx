import { Plus, X } from 'lucide-react';
import { type DragEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Clipped } from '../../ui/clipped.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import { IMAGES_MAX, type Image, imageError, MIME_TYPES, type MimeType, typeOfImage } from './try-input.ts';
import style from './try-panel.module.css';

const TYPES = MIME_TYPES.map((id) => ({ id, label: id.replace('image/', '').toUpperCase() }));

/** Edits the images for the model calls, by URL: typed, pasted or dropped as a link. */
export function ImagesField({
  images,
  onChange,
  error,
}: {
  images: Image[];
  onChange: (images: Image[]) => void;
  error?: string | undefined;
}) {
  const [address, setAddress] = useState('');
  const [refused, setRefused] = useState<string>();

  function add(text: string) {
    const url = text.trim();
    if (url === '') return;
    const wrong = images.length >= IMAGES_MAX ? `At most ${IMAGES_MAX} images can be sent.` : imageError(url);
    setRefused(wrong);
    if (wrong) return;
    onChange([...images, { url, mime_type: typeOfImage(url) }]);
    setAddress('');
  }
  function drop(event: DragEvent) {
    event.preventDefault();
    const [link] = event.dataTransfer.getData('text/uri-list').split('\n');
    if (link) add(link);
    else if (event.dataTransfer.files.length > 0)
      setRefused(
        'Weir stores no images: put the file where the model’s provider can fetch it, and give its https address.',
      );
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a place to drop a link; the field does the same
    <div className={style.fields} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      {images.map(({ url, mime_type }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an address may be there twice
        <div key={index} className={style.image}>
          <ReturnFocus />
          <Clipped text={url} />
          <Select
            label={`Type of image ${index + 1}`}
            hideLabel
            options={TYPES}
            value={mime_type}
            onChange={(type: MimeType) => onChange(images.with(index, { url, mime_type: type }))}
          />
          <IconButton
            label={`Remove image ${index + 1}`}
            size="small"
            onPress={() => onChange(images.toSpliced(index, 1))}
          >
            <X size={14} />
          </IconButton>
        </div>
      ))}
      <div className={style.image}>
        <TextField
          label="Image"
          value={address}
          onChange={setAddress}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            add(address);
          }}
          error={refused ?? error}
          placeholder="https://example.com/river.png"
          help={`Up to ${IMAGES_MAX} images (JPEG, PNG, WebP, GIF), each by its public https address of at most 2,048 characters. The model’s provider fetches them.`}
        />
        <Button size="small" onPress={() => add(address)}>
          <Plus size={14} aria-hidden /> Add
        </Button>
      </div>
    </div>
  );
}
